#!/usr/bin/env python3
"""Makes manual pages of a program's commands.

  usage: PROGRAM --experimental-dump-help | scripts/manual.py FOLDER [--date YYYY-MM-DD] [--version VERSION] [--without COMMAND]

Reads the description that swift-argument-parser writes (its version 0) and writes a page in man(7) for the program and one for each
of its commands, in which the commands below it are sections: kith.1, kith-note.1, ... A command of which the page comes from elsewhere
has none, and the others do not refer to it.
"""
import argparse
import json
import os
import re
import sys

SECTION = "1"


def escaped(text):
    """Text as it stands, whatever roff would make of it."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("^", "\\(ha").replace("~", "\\(ti").replace("`", "\\`")
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in text.split("\n"))


def inline(text):
    """A paragraph, in which what stands between backticks is bold."""
    parts = re.split(r"`([^`]+)`", text)
    return "".join(f"\\fB{escaped(part)}\\fR" if index % 2 else escaped(part) for index, part in enumerate(parts))


def discussion(text):
    """Paragraphs; what is indented stands as it is; words in capitals alone on a line are headings."""
    lines, block, verbatim = [], [], []

    def flush():
        if block:
            lines.extend([".PP", inline(" ".join(block))])
            block.clear()
        while verbatim and not verbatim[-1]:
            verbatim.pop()
        if verbatim:
            lines.extend([".PP", ".nf", ".RS 4"] + [escaped(line[2:]) if line else "" for line in verbatim] + [".RE", ".fi"])
            verbatim.clear()

    for line in (text or "").split("\n"):
        if line.startswith("  "):
            if block:
                flush()
            verbatim.append(line)
        elif not line.strip():
            if verbatim:
                verbatim.append("")
            else:
                flush()
        elif re.fullmatch(r"[A-Z][A-Z ]+", line):
            flush()
            lines.extend([".PP", f"\\fB{escaped(line.capitalize())}\\fR"])
        else:
            if verbatim:
                flush()
            block.append(line)
    flush()
    # Empty lines of an example would end a paragraph.
    return [line if line else "\\&" for line in lines]


def shown(items):
    return [item for item in items or [] if item.get("shouldDisplay", True)]


def spelled(name):
    return ("--" if name["kind"] == "long" else "-") + name["name"]


def value(argument):
    return f"\\fI{escaped(argument.get('valueName') or 'value')}\\fR"


def synopsis(words, command, left_out=()):
    """How the command is called; options that are described elsewhere are only hinted at."""
    parts = [f"\\fB{escaped(' '.join(words))}\\fR"]
    for argument in shown(command.get("arguments")):
        if key(argument) in left_out:
            continue
        if argument["kind"] == "positional":
            part = value(argument)
        else:
            part = f"\\fB{escaped(spelled(argument['preferredName']))}\\fR"
            if argument["kind"] == "option":
                part += " " + value(argument)
        if argument.get("isRepeating"):
            part += " ..."
        parts.append(f"[{part}]" if argument["isOptional"] else part)
    if left_out:
        parts.append("[\\fIoption\\fR ...]")
    if shown(command.get("subcommands")):
        parts.append("\\fIcommand\\fR ...")
    return " ".join(parts)


def key(argument):
    return json.dumps([argument["kind"], argument.get("names"), argument.get("valueName"), argument.get("abstract")])


def options(arguments):
    lines = []
    for argument in arguments:
        if argument["kind"] == "positional":
            label = value(argument)
        else:
            label = ", ".join(f"\\fB{escaped(spelled(name))}\\fR" for name in argument["names"])
            if argument["kind"] == "option":
                label += " " + value(argument)
        text = " ".join(filter(None, [argument.get("abstract"), argument.get("discussion")]))
        if argument.get("allValues"):
            text += f" One of: {', '.join(argument['allValues'])}."
        if argument.get("defaultValue"):
            text += f" By default {argument['defaultValue']}."
        lines += [".TP", label, inline(text.strip()) or "\\&"]
    return lines


def leaves(words, command):
    """The commands at the end of the tree, each with the words that name it."""
    below = shown(command.get("subcommands"))
    if not below:
        return [(words, command)]
    return [leaf for child in below for leaf in leaves(words + [child["commandName"]], child)]


def page(words, command, date, version, others):
    name = "-".join(words)
    title = " ".join(words)
    lines = [
        f'.TH "{escaped(name.upper())}" "{SECTION}" "{date}" "{escaped(version)}" "Commands"', ".SH NAME",
        f"{escaped(name)} \\- {escaped((command.get('abstract') or title).rstrip('.'))}", ".SH SYNOPSIS",
    ]
    below = shown(command.get("subcommands"))
    is_root = len(words) == 1
    entries = [(words + [child["commandName"]], child) for child in below] if is_root else leaves(words, command)
    sets = [{key(argument) for argument in shown(one.get("arguments"))} for _, one in entries]
    everywhere = set.intersection(*sets) if len(sets) > 1 and not is_root else set()
    for one_words, one in [(words, command)] if is_root else entries:
        lines += [".HP", synopsis(one_words, one, everywhere)]
    lines += [".SH DESCRIPTION"] + (discussion(command.get("discussion")) or [escaped(command.get("abstract") or title)])
    common = []
    if is_root:
        lines += [".SH COMMANDS"]
        for one_words, one in entries:
            lines += [".TP", f"\\fB{escaped(' '.join(one_words))}\\fR", inline(one.get("abstract") or "")]
        common = shown(command.get("arguments"))
    elif entries[0][1] is command:
        common = shown(command.get("arguments"))
    else:
        lines += [".SH COMMANDS"]
        for one_words, one in entries:
            lines += [f".SS {escaped(' '.join(one_words[1:]))}", inline(one.get("abstract") or "")] + discussion(one.get("discussion"))
            lines += options(argument for argument in shown(one.get("arguments")) if key(argument) not in everywhere)
        common = [argument for argument in shown(entries[0][1].get("arguments")) if key(argument) in everywhere]
    if common:
        lines += [".SH OPTIONS" if is_root or entries[0][1] is command else ".SH OPTIONS OF ALL COMMANDS"] + options(common)
    if others:
        lines += [".SH SEE ALSO", ",\n".join(f".BR {escaped(other)} ({SECTION})" for other in others).replace(",\n.BR", " ,\n.BR")]
    # A heading begins a paragraph by itself.
    after_heading = [lines[index - 1].startswith((".SH", ".SS")) and line == ".PP" for index, line in enumerate(lines)]
    return "\n".join(line for line, is_left_out in zip(lines, after_heading) if not is_left_out) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--date", default="")
    parser.add_argument("--version", default="")
    parser.add_argument("--without", metavar="COMMAND")
    arguments = parser.parse_args()
    description = json.load(sys.stdin)
    if description["serializationVersion"] != 0:
        sys.exit("manual: this description is of another version than 0")
    root = description["command"]
    # A program that is called through another one has a name of two words.
    words = root["commandName"].split(" ")
    children = [child for child in shown(root.get("subcommands")) if child["commandName"] != "help"]
    root["subcommands"] = children
    pages = {"-".join(words): (words, root)}
    if len(words) == 1:
        for child in (child for child in children if child["commandName"] != arguments.without):
            pages["-".join(words + [child["commandName"]])] = (words + [child["commandName"]], child)
    os.makedirs(arguments.folder, exist_ok=True)
    for name, (page_words, command) in pages.items():
        others = [other for other in pages if other != name] if len(page_words) == 1 else [words[0]]
        with open(os.path.join(arguments.folder, f"{name}.{SECTION}"), "w", encoding="utf-8") as file:
            file.write(page(page_words, command, arguments.date, arguments.version, others))


if __name__ == "__main__":
    main()
