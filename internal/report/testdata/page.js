// What tests look for in a page. Each check returns a list of what is wrong.
window.checks = (() => {
  const shown = e => e.checkVisibility({ contentVisibilityAuto: true }) && e.getClientRects().length > 0;
  const all = (selector, root = document) => [...root.querySelectorAll(selector)].filter(shown);
  const name = e => (e.closest('svg[role=img]')?.id || e.closest('section')?.id || '') + ' ' + e.tagName.toLowerCase() + (e.getAttribute('class') ? '.' + e.getAttribute('class') : '') + ' "' + e.textContent.trim().slice(0, 40) + '"';
  const first = list => [...new Set(list)].slice(0, 8);
  const charts = () => all('svg[role=img]');
  const meets = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 0.5 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 0.5;
  // The ink of a text is less high than its line.
  const ink = e => { const r = e.getBoundingClientRect(), d = r.height * 0.2; return { left: r.left, right: r.right, top: r.top + d, bottom: r.bottom - d }; };
  const ownText = e => [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim() !== '');

  // Colours with their alpha over what is behind them.
  const parse = c => { const n = (c.match(/[\d.]+/g) || []).map(Number); return n.length < 4 ? [...n, 1] : n; };
  const over = (top, below) => [0, 1, 2].map(i => top[3] * top[i] + (1 - top[3]) * below[i]);
  const light = c => { const [r, g, b] = c.map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const contrast = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };

  return {
    scroll() {
      const wide = document.documentElement.clientWidth + 0.5, out = [];
      if (document.documentElement.scrollWidth > wide) out.push('the page is ' + document.documentElement.scrollWidth + ' wide');
      for (const e of all('body *')) {
        if (e.closest('.scroll, pre') && !e.matches('.scroll, pre') || e.closest('svg *')) continue;
        const r = e.getBoundingClientRect();
        if (r.right > wide) out.push(name(e) + ' reaches ' + r.right);
      }
      return first(out);
    },
    cut() {
      const out = [];
      for (const e of all('th, td, th > span, td > span')) {
        const s = getComputedStyle(e);
        if (s.overflowX === 'visible' || e.scrollWidth <= e.clientWidth + 1 && e.scrollHeight <= e.clientHeight + 1) continue;
        const title = e.closest('[title]')?.title || '', own = e.textContent.trim();
        const ellipsis = s.textOverflow === 'ellipsis' || s.webkitLineClamp !== 'none';
        if (!ellipsis || !title.includes(own)) out.push(name(e));
      }
      for (const svg of charts()) {
        const box = svg.getBoundingClientRect();
        for (const text of svg.querySelectorAll('text')) {
          const r = text.getBoundingClientRect(), i = ink(text);
          if (r.left < box.left - 1 || r.right > box.right + 1 || i.top < box.top - 1 || i.bottom > box.bottom + 1) out.push(name(text));
          if (text.firstChild?.data?.endsWith('…') && !text.querySelector('title')) out.push('no full text of ' + name(text));
        }
      }
      return first(out);
    },
    overlap() {
      const out = [];
      for (const svg of charts()) {
        const texts = [...svg.querySelectorAll('text')].filter(t => t.textContent).map(t => [t, ink(t)]);
        texts.forEach(([t, r], i) => texts.slice(i + 1).forEach(([u, q]) => { if (meets(r, q)) out.push(name(t) + ' on ' + name(u)); }));
        for (const mark of svg.querySelectorAll('circle, rect:not(.load), path')) {
          if (mark.closest('.grid')) continue;
          for (const [t, r] of texts) if (mark instanceof SVGPathElement ? passes(mark, r) : meets(mark.getBoundingClientRect(), r)) out.push(name(t) + ' on ' + name(mark));
        }
      }
      return first(out);
    },
    contrast() {
      const out = [], behind = new Map();
      const background = e => {
        if (!e) return [255, 255, 255];
        if (!behind.has(e)) behind.set(e, over(parse(getComputedStyle(e).backgroundColor), background(e.parentElement)));
        return behind.get(e);
      };
      for (const e of all('body *')) {
        if (!ownText(e) || e.tagName === 'TITLE' || e.tagName === 'DESC') continue;
        const s = getComputedStyle(e), svg = e.closest('svg'), back = background(svg ? svg.parentElement : e);
        const ink = over(parse(svg ? s.fill : s.color), back), px = parseFloat(s.fontSize);
        const least = px >= 24 || px >= 18.66 && s.fontWeight >= 700 ? 3 : 4.5, c = contrast(ink, back);
        if (c < least) out.push(name(e) + ' has ' + c.toFixed(2));
      }
      return first(out);
    },
    small() {
      return first(charts().flatMap(svg => {
        const by = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
        return [...svg.querySelectorAll('text')].filter(t => parseFloat(getComputedStyle(t).fontSize) * by < 9).map(t => name(t) + ' has ' + (parseFloat(getComputedStyle(t).fontSize) * by).toFixed(1) + ' px');
      }));
    },
    named() {
      return first(charts().filter(svg => !svg.querySelector(':scope > title')?.textContent.trim() || !svg.querySelector(':scope > desc')?.textContent.trim()).map(svg => svg.id));
    },
    // A table shows the name of its rows and their first figure before it is scrolled.
    mainFigure() {
      const out = [];
      for (const table of all('table')) {
        const room = table.closest('.scroll').getBoundingClientRect(), row = table.querySelector('tbody tr');
        const head = all('th', row)[0], figure = all('td.n', row).find(e => e.compareDocumentPosition(head) & 2) || all('td', row).find(e => e.compareDocumentPosition(head) & 2);
        for (const e of [head, figure]) if (e && e.getBoundingClientRect().right > room.right + 1) out.push(name(table.closest('section')).slice(0, 20) + ' ' + table.className + ': ' + name(e) + ' ends at ' + e.getBoundingClientRect().right.toFixed());
      }
      return first(out);
    },
    rows() {
      const heights = all('tbody tr').map(e => e.getBoundingClientRect().height).sort((a, b) => a - b), median = heights[heights.length >> 1];
      return median > 34 ? ['the median row is ' + median + ' px high'] : [];
    },
    // Words of which a part stands on the next line; hyphens and slashes may end a line.
    broken() {
      const out = [], range = document.createRange();
      for (const e of all('th, td, th > span, td > span, figcaption, li')) for (const n of e.childNodes) {
        if (n.nodeType !== 3) continue;
        for (const m of n.data.matchAll(/[\p{Script=Latin}\d.]{2,24}/gu)) {
          range.setStart(n, m.index); range.setEnd(n, m.index + m[0].length);
          const word = n.data.slice(0, m.index).match(/[^\s\-\/–—]*$/)[0].length + m[0].length + n.data.slice(m.index + m[0].length).match(/^[^\s\-\/–—]*/)[0].length;
          if (word <= 24 && new Set([...range.getClientRects()].map(r => Math.round(r.top))).size > 1) out.push(m[0] + ' in ' + name(e));
        }
      }
      return first(out);
    },
    // Charts and rows that a sheet cuts: those that may be cut, and those that are higher than it.
    divided(sheet) {
      return first([...all('figure, tbody tr').filter(e => getComputedStyle(e).breakInside !== 'avoid'), ...all('svg[role=img], tbody tr').filter(e => e.getBoundingClientRect().height > sheet)].map(e => name(e) + ' of ' + e.getBoundingClientRect().height.toFixed() + ' px'));
    },
    firstScreen() {
      const answer = document.querySelector('.answers dd'), shows = all('main table, main svg[role=img]')[0];
      const bottom = e => e ? e.getBoundingClientRect().bottom : Infinity, top = e => e ? e.getBoundingClientRect().top : Infinity;
      return [...bottom(answer) > innerHeight ? ['the first answer ends at ' + bottom(answer)] : [], ...top(shows) > innerHeight - 150 ? ['the first table or chart begins at ' + top(shows)] : []];
    },
  };

  // Whether a line or its fill goes through a box.
  function passes(path, box) {
    const bounds = path.getBoundingClientRect();
    if (!meets({ left: bounds.left - 1, right: bounds.right + 1, top: bounds.top - 1, bottom: bounds.bottom + 1 }, box)) return false;
    const to = path.getScreenCTM(), length = path.getTotalLength();
    for (let at = 0; at <= length; at += 3) {
      const p = path.getPointAtLength(at).matrixTransform(to);
      if (p.x > box.left && p.x < box.right && p.y > box.top && p.y < box.bottom) return true;
    }
    return false;
  }
})();
0
