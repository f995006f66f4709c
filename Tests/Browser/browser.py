#!/usr/bin/env python3
"""Uses the page of two nodes in two browsers, as two people would.

usage: browser.py KITH FOLDER PART...

KITH is the program, FOLDER an empty folder for homes and pictures, each PART one of the functions in the files beside this one whose name
begins with `part_`. Prints a line for each part, with what went wrong, and how long all took; ends with 1 if something did.

No part depends on how fast the machine is: each waits until something is so, and holds back itself what shall come late.
"""

import os
import sys
import time
import traceback

sys.dont_write_bytecode = True

from playwright.sync_api import sync_playwright

import choices
import clicking
import early
import figures
import gone
import merging
import moving
import ordering
import others
import places
import quick
import undoing
import writing
from homes import Home

CHROMIUM = "/usr/bin/chromium-headless-shell"


def find(part):
    modules = (writing, merging, moving, gone, clicking, quick, early, undoing, others, places, choices, ordering, figures)
    return next(getattr(module, "part_" + part) for module in modules if hasattr(module, "part_" + part))


def print_standing(browser, homes):
    """What the pages and programs said last, to those who were not there."""
    for page in (page for context in browser.contexts for page in context.pages):
        try:
            shown = {name: page.locator(name).all_inner_texts() for name in ("#alerts", "#status", "#saved")}
            print(f"{page.url}: {shown}, complaints: {getattr(page, 'complaints', [])[-5:]}", flush=True)
        except Exception as error:
            print(f"{page.url} cannot be read: {error}", flush=True)
    for home in homes:
        with open(os.path.join(home.folder, "log")) as log:
            print(f"{home.folder}, {'ended' if home.process is None else home.process.poll()}: {log.read()[-1_000:]}", flush=True)


def main():
    started, failed, seconds = [], [], 0
    begin = Home.start
    Home.start = lambda self, *arguments: (begin(self, *arguments), started.append(self))[0]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"])
        for name in sys.argv[3:]:
            begun = time.monotonic()
            try:
                find(name)(browser)
                print(f"{name}: right, {time.monotonic() - begun:.1f} s", flush=True)
            except Exception:
                failed.append(name)
                print(f"{name}: wrong, {time.monotonic() - begun:.1f} s\n{traceback.format_exc()}", flush=True)
                print_standing(browser, started)
            finally:
                for context in browser.contexts:
                    context.close()
                while started:
                    started.pop().stop()
                seconds += time.monotonic() - begun
        browser.close()
    print(f"all parts: {seconds:.1f} s", flush=True)
    sys.exit(1 if failed else 0)


main()
