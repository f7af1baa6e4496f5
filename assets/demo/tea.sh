#!/bin/sh
# tea.sh [NAME]: prints how warm and how long to brew a tea; without a name, all of them.
case $0 in
*/*) here=${0%/*} ;;
*) here=. ;;
esac
. "$here/lib/duration.sh"

found=no
while read -r name degrees seconds; do
    [ "${1:-$name}" = "$name" ] || continue
    found=yes
    echo "$name: $degrees °C, $(duration "$seconds")"
done <"$here/teas.txt"

if [ "$found" = no ]; then
    echo "tea.sh: no tea called '$1' in teas.txt" >&2
    exit 1
fi
