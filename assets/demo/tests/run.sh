#!/bin/sh
# Runs all tests: one line each, exit status 1 if any of them failed.
case $0 in
*/*) root=${0%/*}/.. ;;
*) root=.. ;;
esac
. "$root/lib/duration.sh"

count=0
failed=0

# check WHAT EXPECTED ACTUAL
check() {
    count=$((count + 1))
    if [ "$2" = "$3" ]; then
        echo "ok $count - $1"
    else
        failed=$((failed + 1))
        echo "not ok $count - $1"
        echo "#   expected: $2"
        echo "#   actual:   $3"
    fi
}

check "no time at all" "0s" "$(duration 0)"
check "less than a minute" "45s" "$(duration 45)"
check "minutes and seconds" "2m 30s" "$(duration 150)"
check "whole minutes" "4m" "$(duration 240)"
check "a whole hour" "1h" "$(duration 3600)"
check "hours and minutes" "8h 30m" "$(duration 30600)"
check "a tea by its name" "green: 75 °C, 2m 30s" "$(sh "$root/tea.sh" green)"
check "a tea that takes the night" "cold-brew: 5 °C, 8h 30m" "$(sh "$root/tea.sh" cold-brew)"

echo "1..$count"
if [ "$failed" -gt 0 ]; then
    echo "# $failed of $count failed"
    exit 1
fi
echo "# all $count passed"
