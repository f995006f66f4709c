"""Every place of the page: used by hand, looked at, and from a phone."""

import json
import os
import re
import time

from homes import Home, two_nodes, until
from pages import PNG, errors_of, looks, open_page, picture, saved


def part_hands(browser):
    """Everything that can be done with a keyboard is done with it; boxes are ticked, files dropped, versions chosen."""
    home = Home("hands")
    home.kith("note", "add", "Shopping", "--body", "- [ ] bread\n- [ ] milk\n\n[[Recipes]]\n", "--tag", "home")
    home.kith("note", "add", "Recipes", "--body", "jam")
    home.start("web", "--port", "0")
    page = open_page(browser, home)
    # The next note and the one before; writing and reading.
    first, second = [page.locator("#rows li").nth(number).get_attribute("data-id") for number in range(2)]
    is_open = lambda note: page.evaluate("location.pathname") == f"/note/{note}" and page.get_attribute("#note", "data-id") == note
    for key, note in (("j", first), ("j", second), ("j", second), ("k", first), ("k", first)):
        page.keyboard.press(key)
        until(lambda: is_open(note), f"{key} leads to a note")
    for view in ("read", "both"):
        page.keyboard.press("v")
        until(lambda: page.get_attribute("#note", "data-view") == view, f"the view is: {view}")
        assert page.locator("#text").is_visible() == (view == "both") and page.locator("#rendered").is_visible()
    page.keyboard.press("/")
    page.keyboard.type("tag:home")
    until(lambda: page.locator("#rows li").count() == 1, "the list is what was searched")
    page.keyboard.press("Enter")
    # Where the note takes the whole width, the list comes first.
    until(lambda: is_open(page.locator("#rows li").first.get_attribute("data-id")), "the note is open")
    wide = page.viewport_size
    page.set_viewport_size({"width": 390, "height": 844})
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Escape")
    until(lambda: page.locator("#search").is_visible(), "the list takes the whole width")
    page.locator("#rows a").first.press("Enter")
    until(lambda: page.locator("#note").is_visible() and not page.locator("#search").is_visible(), "the note takes the whole width")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("/")
    until(lambda: page.evaluate("document.activeElement.id") == "search", "the field of the search is there")
    page.keyboard.press("Enter")
    until(lambda: page.locator("#note").is_visible(), "the note is open again")
    page.set_viewport_size(wide)
    page.reload()
    page.locator("#rendered input[type=checkbox]").nth(1).check()
    until(lambda: "- [x] milk" in home.kith("note", "show", "Shopping", "--body-only"), "the tick is in the text")
    page.click("#rendered a")
    until(lambda: page.input_value("#title") == "Recipes", "the link leads to the note")
    assert "Shopping" in page.inner_text("#rendered"), "what links here is listed"
    page.set_input_files("#attach", {"name": "dot.png", "mimeType": "image/png", "buffer": PNG})
    until(lambda: "![[dot.png]]" in home.kith("note", "show", "Recipes", "--body-only"), "the picture is in the text")
    until(lambda: page.evaluate("document.querySelector('#rendered img')?.naturalWidth") == 1, "the picture is shown")
    # Files that are dropped and pasted come, too, and the page says how far they are.
    page.evaluate(TOLD)
    for event, name in (("drop", "dropped.bin"), ("paste", "pasted.bin")):
        page.evaluate(BROUGHT, [event, name])
        until(lambda: page.locator(f"#rendered a.file:has-text('{name}')").count() == 1, f"the file is attached: {event}")
        told = page.evaluate("window.told")
        assert f"Attaching {name} … 0 %" in told and f"Attaching {name} … 100 %" in told, told
    # Another file is no part of the page, by whatever link: it is a download.
    page.set_input_files("#attach", {"name": "evil.html", "mimeType": "text/html", "buffer": b"<h1 id=evil>evil</h1><article id=note>"})
    until(lambda: page.locator("#rendered a.file:has-text('evil.html')").count() == 1, "the file is attached")
    recipes = page.url.split("/")[-1]
    page.focus("#text")
    page.keyboard.press("Control+End")
    page.keyboard.type(f"\n[[evil.html]] [more](/api/note/{recipes}) [parts](/part/list)")
    until(lambda: page.locator("#markdown a").count() == 3, "the links are shown")
    for number in range(3):
        page.locator("#markdown a").nth(number).click()
        time.sleep(0.2)
        assert page.locator("#evil").count() == 0 and page.input_value("#title") == "Recipes" and page.locator("main #note").count() == 1
    # A link to no note writes one after a yes, and not before.
    page.focus("#text")
    page.keyboard.press("Control+End")
    page.keyboard.type("\n[[Cellar]]")
    until(lambda: page.locator("#markdown a[href^='/new']").count() == 1, "the link offers a new note")
    titles = lambda: [note["title"] for note in json.loads(home.kith("note", "list", "--json"))]
    for answer in (False, True):
        page.once("dialog", lambda dialog: dialog.accept() if answer else dialog.dismiss())
        page.click("#markdown a[href^='/new']")
        if answer:
            until(lambda: "Cellar" in titles(), "the note is written")
        else:
            time.sleep(0.2)
            assert "Cellar" not in titles(), titles()
    until(lambda: page.input_value("#title") == "Cellar", "the new note is open")
    page.keyboard.press("Escape")
    page.fill("#search", "")
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    until(lambda: page.evaluate("document.activeElement.id") == "title", "a new note is begun")
    page.keyboard.type("By hand")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "text", "Enter leads from the title to the text"
    page.focus("#title")
    page.keyboard.press("Tab")
    page.keyboard.type("work")
    page.keyboard.press("Enter")
    until(lambda: "By hand" in home.kith("note", "list") and "#work" in home.kith("note", "show", "By hand"), "it has its title and its tag")
    page.keyboard.press("Escape")
    page.keyboard.press("e")
    page.keyboard.type("text")
    until(lambda: home.kith("note", "show", "By hand", "--body-only") == "text", "it has its text")
    page.keyboard.press("Escape")
    page.keyboard.press("t")
    until(lambda: re.fullmatch(r"\d{4}-\d\d-\d\d", page.input_value("#title") or ""), "the note of the day is open")
    # Several notes are chosen with the keyboard and the mouse, and changed at once.
    page.goto(page.url.split("/note")[0] + "/")
    page.focus("#rows li:has-text('Recipes') a")
    page.keyboard.press("x")
    page.click("#rows li:has-text('Shopping') a", modifiers=["Control"])
    until(lambda: page.inner_text("#chosen") == "2 notes chosen", "two notes are chosen")
    page.fill("#several-tag", "both")
    page.press("#several-tag", "Enter")
    until(lambda: home.kith("note", "list", "--tag", "both").count("#both") == 2, "both have the tag")
    page.select_option("#several-color", "blue")
    until(lambda: page.locator("#rows li[data-color=blue]").count() == 2, "both have the color")
    page.click("[data-several=none]")
    assert page.locator("#several").is_hidden() and page.locator("#rows .pick").first.is_hidden()
    page.keyboard.press("t")
    until(lambda: re.fullmatch(r"\d{4}-\d\d-\d\d", page.input_value("#title") or ""), "the note of the day is open again")
    # Titles that others change meanwhile are asked about.
    page.goto(page.url.split("/note")[0])
    page.click("#rows li:has-text('By hand') a")
    page.locator("#text").wait_for()
    page.evaluate(HELD_FIELDS)
    page.fill("#title", "By this hand")
    until(lambda: page.evaluate("Boolean(window.release)"), "the title is on its way")
    home.kith("note", "edit", "By hand", "--title", "By other hands")
    page.evaluate("release()")
    page.click("text=Keep mine")
    until(lambda: "By this hand" in home.kith("note", "list"), "the title that was chosen is there")
    # A script that gets into the page after all is not run, neither one within it nor one from another origin, which has the same machine.
    foreign = Home("hands-foreign")
    foreign.start("web", "--port", "0")
    address = re.sub(r"(https?://[^/]+).*", r"\1", foreign.entrance())
    ended = page.evaluate(INJECTED, address + "/merge.js")
    assert ended == ["error", "error", None], ended
    unexpected = [text for text in page.complaints if "409" not in text and "Content Security Policy" not in text]
    assert not unexpected, unexpected
    assert sum("Content Security Policy" in text for text in page.complaints) >= 3, page.complaints
    home.stop()


# Scripts as somebody may bring them in: how loading one from another origin ends, as a module and not, and what one within the page did.
INJECTED = """async (address) => {
  const load = (type) => new Promise((done) => {
    const script = Object.assign(document.createElement("script"), { src: address, type });
    script.addEventListener("load", () => done("load"));
    script.addEventListener("error", () => done("error"));
    document.body.append(script);
  });
  document.body.append(Object.assign(document.createElement("script"), { textContent: "window.inline = true" }));
  const button = document.createElement("button");
  button.setAttribute("onclick", "window.inline = true");
  document.body.append(button);
  button.click();
  return [await load("text/javascript"), await load("module"), window.inline ?? null];
}"""


# The text of a version, without the buttons in it.
SHOWN = """[...document.querySelector("#difference").childNodes].map((node) => node.matches?.("button") ? "" : node.textContent).join("")"""

# What the page says of saving.
TOLD = """() => {
  const line = document.querySelector("#saved");
  window.told = [];
  new MutationObserver(() => window.told.push(line.textContent)).observe(line, { childList: true, characterData: true, subtree: true });
}"""

# Brings a file of a megabyte as a hand would.
BROUGHT = """([event, name]) => {
  const files = new DataTransfer();
  files.items.add(new File([new Uint8Array(1 << 20)], name));
  const options = { bubbles: true, cancelable: true };
  document.querySelector("#text").dispatchEvent(
    event === "drop" ? new DragEvent(event, { ...options, dataTransfer: files }) : new ClipboardEvent(event, { ...options, clipboardData: files }));
}"""

# Holds a change of the title up until `release()`.
HELD_FIELDS = """() => {
  const send = window.fetch;
  window.fetch = async (path, options) => {
    if (path.endsWith("/fields")) {
      window.fetch = send;
      await new Promise((done) => { window.release = done; });
    }
    return send(path, options);
  };
}"""


def part_history(browser):
    """The slider of a history shows each version with what it changed, by whom, and brings one back."""
    home = Home("history")
    note = home.kith("note", "add", "Soup", "--body", "leek\n").splitlines()[-1]
    for body in ("leek, potato\n", "leek, potato, cream\n"):
        home.kith("note", "edit", note, "--body", body, "--base", home.version(note))
    home.start("web", "--port", "0", "--no-discovery")
    page = open_page(browser, home)
    page.goto(page.url + f"note/{note}")
    page.click("text=History")

    def shows(number, text, added):
        until(lambda: page.inner_text("#about").startswith(f"{number} of 3: ") and "".join(page.locator("#difference ins").all_text_contents()) == added
              and page.evaluate(SHOWN).strip() == text, f"version {number} is shown")
        assert "this device" in page.inner_text("#about") and page.get_attribute("#version", "aria-valuetext") in page.inner_text("#about")

    shows(3, "leek, potato, cream", ", cream")
    page.focus("#version")
    page.keyboard.press("ArrowLeft")
    shows(2, "leek, potato", ", potato")
    page.keyboard.press("Home")
    shows(1, "leek", "leek\n")
    page.keyboard.press("ArrowRight")
    shows(2, "leek, potato", ", potato")
    page.click("text=Bring this text back")
    page.locator("#text").wait_for()
    until(lambda: page.input_value("#text") == "leek, potato\n" and home.body(note) == "leek, potato\n", "the text is what it was")
    # What it was before is not lost.
    page.click("text=History")
    until(lambda: page.inner_text("#about").startswith("4 of 4: ") and page.locator("#difference del").all_inner_texts() == [", cream"],
          "bringing it back is a version of its own")
    # One paragraph of an old version is put where it was, beside what was written since.
    for body in ("leek\n\n- salt\n- pepper\n\nserve\n", "leek and more\n\nserve hot\n\nbread\n"):
        home.kith("note", "edit", note, "--body", body, "--base", home.version(note))
    page.reload()
    page.focus("#version")
    page.keyboard.press("ArrowLeft")
    until(lambda: page.locator("#difference .bring").count() == 3, "each paragraph that is gone can be brought back")
    page.click("#difference .bring[aria-label^='Bring back: - salt']")
    page.locator("#text").wait_for()
    expected = "leek and more\n\nserve hot\n\nbread\n\n- salt\n- pepper\n"
    until(lambda: page.input_value("#text") == expected and home.body(note) == expected, "the paragraph is there, and nothing else changed")
    home.kith("note", "edit", note, "--body", "leek\n\nserve\n", "--base", home.version(note))
    page.click("text=History")
    page.focus("#version")
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    until(lambda: page.locator("#difference .bring").count() == 1, "only that paragraph is gone")
    page.click("#difference .bring[aria-label^='Bring back: - salt']")
    page.locator("#text").wait_for()
    until(lambda: home.body(note) == "leek\n\n- salt\n- pepper\n\nserve\n", "it is after the one that it was after")
    assert not page.complaints, page.complaints
    home.stop()


def part_lan(browser):
    """A phone in the same network, whose owner has looked at the certificate."""
    home = Home("lan")
    home.start("web", "--lan", "--port", "0", "--json")
    log = os.path.join(home.folder, "log")
    until(lambda: "entrance" in open(log).read(), "the page is served")
    entrance = json.loads(open(log).read())["entrance"]
    assert entrance.startswith("https://") and "127.0.0.1" not in entrance, entrance
    context = browser.new_context(viewport={"width": 390, "height": 844}, ignore_https_errors=True, has_touch=True)
    page = context.new_page()
    page.complaints = errors_of(page)
    page.goto(entrance)
    page.locator("#status:not(:empty)").wait_for(state="attached")
    assert "token" not in page.url
    page.click("#new")
    page.locator("#title").fill("From the phone")
    page.locator("#text").fill("written at the shop")
    until(lambda: "From the phone" in home.kith("note", "list") and saved(page), "the note is there")
    home.kith("note", "edit", "From the phone", "--body", "written at the shop, and at home")
    until(lambda: page.input_value("#text").endswith("at home"), "what is written on the machine comes to the phone")
    page.set_input_files("#attach", {"name": "dot.png", "mimeType": "image/png", "buffer": PNG})
    until(lambda: "dot.png" in home.kith("note", "show", "From the phone", "--body-only"), "its pictures come, too")
    assert not page.complaints, page.complaints
    home.stop()


def sample(home):
    home.kith("note", "add", "Garden", "--body", "Sow the peas", "--tag", "garden", "--color", "green")
    home.kith("note", "add", "Recipes", "--body", "Marmalade: 1 kg oranges, sugar. See [[Shopping]].", "--tag", "food")
    title = "A long title that goes on until nobody can read it on a telephone any more"
    long = home.kith("note", "add", title, "--body", "words " * 40, "--color", "blue").splitlines()[-1]
    body = "For the weekend:\n\n- [ ] Bread\n- [x] Coffee\n- [ ] Oranges for the [[Recipes]]\n\n| what | how much |\n|---|---|\n| flour | 1 kg |\n"
    home.kith("note", "add", "Shopping", "--body", body, "--tag", "home", "--tag", "food", "--color", "yellow")
    return long


def part_pictures(browser):
    """Pictures of every place, narrow and wide, light and dark; names, roles, order of focus and contrast on each of them."""
    home, other, cable = two_nodes("pictures", "pictures-laptop")
    long = sample(home)
    home.kith("note", "rm", "Garden")
    recipes = home.kith("note", "show", "Recipes", "--json")
    until(lambda: "Recipes" in other.kith("note", "list"), "the other machine has the notes")
    cable.cut()
    for machine, title in ((home, "Jam and marmalade"), (other, "Recipes of the family")):
        machine.kith("note", "edit", json.loads(recipes)["id"], "--title", title)
    cable.mend()
    until(lambda: home.kith("conflicts", "list"), "there is something to choose")
    for body in ("Bread\n", "Bread\n\nand coffee\n", "Bread\n\nand tea\n"):
        home.kith("note", "edit", long, "--body", body)
    entrance = home.entrance()
    base = entrance.split("/?")[0]
    page = open_page(browser, home)
    page.click("#rows li:has(.title:text-is('Shopping')) a")
    page.locator("#text").wait_for()
    note = page.url
    everywhere = (("list", base + "/"), ("note", note), ("trash", base + "/trash"), ("choices", base + "/conflicts"),
                  ("devices", base + "/devices"), ("history", f"{base}/note/{long}/history"))
    for width, scheme in looks():
        page.set_viewport_size({"width": width, "height": 844 if width == 390 else 800})
        page.emulate_media(color_scheme=scheme)
        for name, url in everywhere:
            page.goto(url)
            page.locator("#status:not(:empty)").wait_for(state="attached")
            # A note's boxes have names once it is loaded.
            until(lambda: name != "note" or saved(page), "the note is loaded")
            picture(page, f"{name}-{width}-{scheme}")
            problems = page.evaluate(ACCESSIBILITY)
            assert not problems, f"{name} at {width} in {scheme}: {problems}"
            overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert overflow <= 0, f"{name} at {width}: {overflow} pixels too wide"
    assert not page.complaints, page.complaints
    # The order of focus is the order of what is seen, at every place and width.
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 844 if width == 390 else 800})
        for name, url in everywhere:
            page.goto(url)
            page.locator("#status:not(:empty)").wait_for(state="attached")
            page.evaluate("document.activeElement.blur()")
            order = []
            while len(order) < 100:
                page.keyboard.press("Tab")
                focused = page.evaluate(FOCUSED)
                if focused is None or focused["id"] in [each["id"] for each in order]:
                    break
                order.append(focused)
            assert order[0]["name"] == "skip" and 8 < len(order) < 100, f"{name} at {width}: {order}"
            assert all(each["isSeen"] for each in order), f"{name} at {width}: {[each for each in order if not each['isSeen']]}"
            regions = [each["region"] for each in order]
            assert regions == sorted(regions), f"{name} at {width}: {order}"
            for one, next_one in zip(order, order[1:]):
                if one["region"] == next_one["region"]:
                    assert next_one["bottom"] > one["top"], f"{name} at {width}: back up from {one} to {next_one}"
            if name == "note":
                names = [each["name"] for each in order]
                wanted = ["skip", "search", "new"] * (width == 1280) + ["view", "title", "tag", "text"]
                places = [names.index(name) for name in wanted]
                assert places == sorted(places), names
    for machine in (home, other):
        machine.stop()


# What has the focus: which element, where it is, and whether it is seen; `null` if nothing has it.
FOCUSED = """() => {
  const element = document.activeElement;
  if (!element || element === document.body) return null;
  window.numbers ??= new Map();
  if (!numbers.has(element)) numbers.set(element, numbers.size);
  // A file is chosen by its label.
  const shown = element.matches(".unseen") && element.closest("label") || element;
  const { top, bottom, left, right, width, height } = shown.getBoundingClientRect();
  let scrolled = 0;
  for (let each = shown.parentElement; each; each = each.parentElement) scrolled += each.scrollTop;
  const region = element.closest("main") ? 3 : element.closest("#side") ? 2 : element.closest("header, #alerts") ? 1 : 0;
  return {
    id: numbers.get(element), name: element.id || element.className || element.textContent.trim(), region,
    top: top + scrolled, bottom: bottom + scrolled,
    isSeen: width > 0 && height > 0 && bottom > 0 && top < innerHeight && right > 0 && left < innerWidth,
  };
}"""


# Names, roles and contrast (WCAG 2.2, 1.4.3 and 4.1.2), as far as a script can tell.
ACCESSIBILITY = r"""() => {
  const problems = [];
  const isSeen = (element) => element.getClientRects().length > 0 && getComputedStyle(element).visibility !== "hidden";
  const name = (element) => (element.getAttribute("aria-label") || (element.labels?.length ? [...element.labels].map((label) => label.textContent).join(" ") : "")
    || element.textContent || element.getAttribute("title") || "").trim();
  for (const element of document.querySelectorAll("a[href], button, input, select, textarea, [tabindex='0'], img, [role=img]")) {
    if (!isSeen(element)) continue;
    if (element.matches("img") ? !element.hasAttribute("alt") : !name(element)) problems.push("no name: " + element.outerHTML.slice(0, 80));
  }
  for (const element of document.body.querySelectorAll("*")) {
    const isHandled = element.closest("a[href], button, input, select, textarea, label");
    if (isSeen(element) && !isHandled && (getComputedStyle(element).cursor === "pointer" || element.onclick || element.hasAttribute("onclick")))
      problems.push("clicked, and no link or button: " + element.outerHTML.slice(0, 80));
  }
  for (const element of document.querySelectorAll("section")) if (!element.getAttribute("aria-label")) problems.push("section without a name");
  if (document.querySelectorAll("main").length !== 1) problems.push("not one main");
  if (document.querySelectorAll("main h1").length !== 1) problems.push("not one h1");
  if (!document.documentElement.lang) problems.push("no language");
  const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
  for (const id of new Set(ids)) if (ids.filter((other) => other === id).length > 1) problems.push("twice: " + id);
  const levels = [...document.querySelectorAll("main h1, main h2, main h3")].filter((heading) => !heading.closest("#markdown")).map(({ tagName }) => Number(tagName[1]));
  levels.forEach((level, index) => { if (index > 0 && level > levels[index - 1] + 1) problems.push("a level of headings is left out"); });
  const parse = (color) => { const [r, g, b, a = 1] = color.match(/[\d.]+/g).map(Number); return { rgb: [r, g, b], a }; };
  const light = (rgb) => { const [r, g, b] = rgb.map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const backOf = (element) => { for (let each = element; each; each = each.parentElement) { const { rgb, a } = parse(getComputedStyle(each).backgroundColor); if (a === 1) return rgb; } return [255, 255, 255]; };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || !isSeen(element) || element.closest(".unseen, .skip, script, option, :disabled")) continue;
    const style = getComputedStyle(element);
    const one = light(parse(style.color).rgb), other = light(backOf(element));
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    const isLarge = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (isLarge ? 3 : 4.5)) problems.push(`contrast ${ratio.toFixed(2)}: ${node.data.trim().slice(0, 40)}`);
  }
  for (const element of document.querySelectorAll("input, textarea")) {
    if (!isSeen(element) || !element.placeholder) continue;
    const one = light(parse(getComputedStyle(element, "::placeholder").color).rgb), other = light(backOf(element));
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (ratio < 4.5) problems.push(`contrast ${ratio.toFixed(2)} of the placeholder of ${element.id}`);
  }
  return problems;
}"""


def part_readme(browser):
    """The picture of the README."""
    home = Home("readme")
    sample(home)
    home.start("web", "--port", "0")
    page = open_page(browser, home)
    page.set_viewport_size({"width": 1100, "height": 560})
    page.click("#rows li:has-text('Shopping') a")
    page.locator("#rendered table").wait_for()
    page.locator("#status:not(:empty)").wait_for(state="attached")
    picture(page, "page")
    home.stop()
