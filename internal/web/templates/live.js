// Shows what the hub sends of a page that changes. Elements that stay the same are left alone, so that
// focus, selection and scrolling are.
"use strict";

function update(now, next) {
  if (now.isEqualNode(next)) return;
  if (now.nodeName !== next.nodeName) {
    now.replaceWith(next);
    return;
  }
  if (now.nodeType !== Node.ELEMENT_NODE) {
    now.data = next.data;
    return;
  }
  for (const name of now.getAttributeNames()) if (!next.hasAttribute(name)) now.removeAttribute(name);
  for (const name of next.getAttributeNames()) now.setAttribute(name, next.getAttribute(name));
  const before = [...now.childNodes];
  const after = [...next.childNodes];
  after.forEach((node, i) => before[i] ? update(before[i], node) : now.append(node));
  before.slice(after.length).forEach((node) => node.remove());
}

const live = document.getElementById("live");
const source = new EventSource(live.dataset.from);
source.addEventListener("message", (event) => {
  const next = live.cloneNode(false);
  next.append(...new DOMParser().parseFromString(event.data, "text/html").body.childNodes);
  update(live, next);
});
source.addEventListener("end", () => source.close());
source.addEventListener("error", () => { // the browser connects again, unless the hub refuses
  if (source.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), 5000);
});
