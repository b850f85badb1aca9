#!/bin/sh
# An MCP server that misbehaves. $1 is how.
#   hang       never answers
#   text       prints text that is not JSON, and never answers
#   exit       ends before it answers, with a message
#   die        ends in a call
#   mute       never answers a call
#   garbage    answers a call with text that is not JSON
#   huge       answers a call with 100 MB
#   flood      sends messages without end after the first call
#   child      starts a process that outlives it, and writes its id to $2
#   env        answers a call with its environment
#   stubborn   ignores the end of its input and SIGTERM
#   slow       answers a call after a second, and reports progress before
tools='[{"name":"go","description":"does it","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]'
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
text() { answer "{\"content\":[{\"type\":\"text\",\"text\":\"$1\"}]}"; }

call() {
    case $1 in
    die) exit 3 ;;
    mute) ;;
    garbage) echo 'Traceback: oh no' ;;
    huge)
        printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"' "$id"
        head -c 100000000 /dev/zero | tr '\0' x
        printf '"}]}}\n'
        ;;
    flood)
        text started
        yes '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"again"}}'
        ;;
    env) text "$(env | cut -d= -f1 | sort | tr '\n' ' ')" ;;
    slow)
        sleep 1
        text late
        ;;
    *) text done ;;
    esac
}

case $1 in
hang) exec sleep 1000 ;;
text)
    echo 'Welcome to my server'
    exec sleep 1000
    ;;
exit)
    echo 'no configuration found' >&2
    exit 1
    ;;
child)
    sleep 1000 &
    echo $! >"$2"
    ;;
stubborn) trap '' TERM ;;
esac

while :; do
    if ! IFS= read -r line; then
        if [ "$1" = stubborn ]; then sleep 1; continue; fi
        exit 0
    fi
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
    case $line in
    *'"server/discover"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}\n' "$id" ;;
    *'"initialize"'*) answer '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"nasty","version":"1"}}' ;;
    *'"tools/list"'*) answer "{\"tools\":$tools}" ;;
    *'"tools/call"'*) call "$1" ;;
    esac
done
