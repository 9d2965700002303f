umask 077
folder= alive= part= keep=no
clean() {
	trap '' HUP INT TERM PIPE
	[ -n "$folder" ] || return
	rm -f -- "$alive" "$part"
	[ "$keep" = yes ] || rm -rf -- "$folder"
}
fail() {
	echo "soku-failed $*"
	exit 1
}
sum() {
	{ sha256sum "$1" || shasum -a 256 "$1" || openssl dgst -sha256 -r "$1"; } 2>/dev/null | { read -r first _; echo "$first"; }
}
usable() {
	case $1 in
	*[!A-Za-z0-9/._+-]*) return 1 ;;
	/*) return 0 ;;
	esac
	return 1
}
runs() {
	printf '#!/bin/sh\n' >"$1/try-$$" && chmod 700 "$1/try-$$" && "$1/try-$$" 2>/dev/null
	set -- "$1" $?
	rm -f -- "$1/try-$$"
	return $2
}
trap clean EXIT
trap 'exit 1' HUP INT TERM PIPE
echo "soku-platform $(uname -s) $(uname -m)"
read -r wanted keep || exit 1
if [ "$keep" = yes ]; then
	folder=$HOME/.cache/soku/$wanted
	usable "$folder" && mkdir -p "$folder" 2>/dev/null && chmod 700 "$folder" && runs "$folder" || { folder=; fail folder "$HOME/.cache/soku"; }
else
	for base in "${TMPDIR:-/tmp}" /var/tmp "$HOME"; do
		usable "$base" || continue
		folder=$(mktemp -d "$base/soku-XXXXXXXXXX" 2>/dev/null) || { folder=; continue; }
		runs "$folder" && break
		rm -rf -- "$folder"
		folder=
	done
	[ -n "$folder" ] || fail folder "${TMPDIR:-/tmp}" /var/tmp "$HOME"
fi
alive=$folder/alive-$$ part=$folder/part-$$ copied=no
: >"$alive"
[ -f "$folder/soku" ] && [ "$(sum "$folder/soku")" = "$wanted" ] && copied=yes
echo "soku-folder $folder $copied $$"
read -r start || exit 1
if [ "$copied" = no ]; then
	got=$(sum "$part")
	[ "$got" = "$wanted" ] || fail checksum "${got:-none}"
	chmod 700 "$part" && mv -f -- "$part" "$folder/soku" || fail folder "$folder"
fi
"$folder/soku" endpoint
