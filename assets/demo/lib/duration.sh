# duration SECONDS: prints a time span the way people say it, such as 45s, 2m 30s or 8h 30m.
duration() {
    hours=$(($1 / 3600))
    minutes=$(($1 / 60))
    seconds=$(($1 % 60))

    words=
    [ "$hours" -gt 0 ] && words="$words ${hours}h"
    [ "$minutes" -gt 0 ] && words="$words ${minutes}m"
    [ "$seconds" -gt 0 ] && words="$words ${seconds}s"
    words=${words# }
    echo "${words:-0s}"
}
