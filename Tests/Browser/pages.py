"""Pages in a browser."""

import base64
import os
import socket

from homes import FOLDER, until

PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")


def errors_of(page):
    """What the browser complains of; a page that was cut off may say that it was."""
    found = []
    page.on("console", lambda message: found.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: found.append(str(error)))
    return found


def open_page(browser, home, **options):
    context = browser.new_context(viewport={"width": 1280, "height": 800}, **options)
    page = context.new_page()
    page.complaints = errors_of(page)
    page.set_default_timeout(60_000)
    page.goto(home.entrance())
    return page


def looks():
    """Narrow and wide, light and dark: each with each in the long run, or if somebody wants pictures of all."""
    if os.environ.get("KITH_SOAK") or os.environ.get("KITH_PICTURES"):
        return [(width, scheme) for width in (390, 1280) for scheme in ("light", "dark")]
    return [(390, "light"), (1280, "dark")]


def picture(page, name):
    """For somebody to look at, who said so with `KITH_PICTURES`."""
    if os.environ.get("KITH_PICTURES"):
        page.screenshot(path=os.path.join(FOLDER, f"{name}.png"))


def saved(page):
    return page.inner_text("#saved") == "Saved"


def pump(page, is_true, what):
    """Waits like `until`; requests that a test holds up are seen only while it speaks with the browser."""
    until(lambda: page.wait_for_timeout(10) or is_true(), what)


def listen_often(port, cookies, times):
    """Connections of other pages, as far as they are let in."""
    cookie = "; ".join(f"{each['name']}={each['value']}" for each in cookies)
    ends = []
    for _ in range(times):
        end = socket.create_connection(("127.0.0.1", int(port)))
        end.sendall(f"GET /events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: {cookie}\r\n\r\n".encode())
        assert end.recv(12).startswith(b"HTTP/1.1 ")
        ends.append(end)
    return ends
