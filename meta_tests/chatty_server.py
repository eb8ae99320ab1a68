"""Stands in for an engine that prints a line for each request: two MiB after its address."""

print("starting up\nhttp://127.0.0.1:9", flush=True)
for _ in range(2**15):
    print("127.0.0.1 - GET /v1/models HTTP/1.1 200 OK, and what else it has to say".ljust(63))
