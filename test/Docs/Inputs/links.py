"""Checks the Markdown files of a repository: the target of each relative link and
each path in backquotes must exist. Usage: links.py <root of the repository>"""

import glob
import os
import re
import sys

root = sys.argv[1]
documents = glob.glob(os.path.join(root, "*.md")) + glob.glob(
    os.path.join(root, "docs", "**", "*.md"), recursive=True)
broken = []
for document in documents:
    with open(document, encoding="utf-8") as file:
        text = re.sub(r"^```.*?^```$", "", file.read(), flags=re.S | re.M)
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        if not re.match(r"\w+:", target):
            path = os.path.join(os.path.dirname(document), target)
            if not os.path.exists(path):
                broken.append("%s: %s" % (document, target))
    for target in re.findall(r"`((?:include|lib|tools|test|docs|examples|scripts|"
                             r"cmake|python|benchmarks)/[\w./-]*)`", text):
        if not os.path.exists(os.path.join(root, target)):
            broken.append("%s: %s" % (document, target))
print("\n".join(broken))
sys.exit(len(documents) == 0 or len(broken) != 0)
