"""The rewriter behind HTTP: `urewrite serve`, and a client of it. Needs the extra `serve`.

A request goes through these rooms, from the outside in: `connection` (headers), `access` (id, log, counts), `security`
(keys), `admission` (room for one more), `limits` (the body), `app` (the routes), `batching` (the model).
"""
