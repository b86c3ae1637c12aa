// SPDX-License-Identifier: GPL-2.0
// Draw diagrams, if tools/setup could fetch mermaid. They stand on white, also in dark pages.
if (window.mermaid)
	mermaid.initialize({ startOnLoad: true, theme: "neutral", securityLevel: "strict" });
