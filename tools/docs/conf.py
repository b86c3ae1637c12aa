# SPDX-License-Identifier: GPL-2.0
# Sphinx, for tools/docs/build, which puts the pages beside a copy of this file.
import os

project = "onramp"
copyright = "The onramp authors"
author = "The onramp authors"
release = version = os.environ.get("ONRAMP_VERSION", "")

extensions = ["myst_parser", "sphinxcontrib.mermaid"]
root_doc = "index"
myst_heading_anchors = 4
highlight_language = "none"
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_title = "onramp " + release
html_static_path = ["static"]
html_extra_path = ["extra"]
html_css_files = ["onramp.css"]
html_copy_source = False
html_show_sphinx = False
# No page loads anything from another server: mermaid is local, or diagrams are text.
mermaid_version = ""
mermaid_init_js = ""
html_js_files = ["diagrams.js", "copy.js"]
if os.path.exists("static/mermaid.min.js"):
    html_js_files.insert(0, "mermaid.min.js")
