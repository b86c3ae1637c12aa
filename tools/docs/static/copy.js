// SPDX-License-Identifier: GPL-2.0
// A button in each block of commands that copies it.
function copyText(pre) {
	const text = pre.innerText.replace(/\n+$/, "\n");

	if (navigator.clipboard)
		return navigator.clipboard.writeText(text);
	// Over plain HTTP there is no clipboard, but what is selected can be copied.
	getSelection().selectAllChildren(pre);
	return document.execCommand("copy") ? Promise.resolve() : Promise.reject();
}

document.addEventListener("DOMContentLoaded", () => {
	for (const pre of document.querySelectorAll(".highlight-sh div.highlight pre")) {
		const button = document.createElement("button");
		const say = (text) => {
			button.textContent = text;
			setTimeout(() => { button.textContent = "copy"; }, 1500);
		};

		button.type = "button";
		button.className = "copy";
		button.textContent = "copy";
		button.addEventListener("click", () =>
			copyText(pre).then(() => say("copied"), () => say("failed")));
		pre.parentElement.append(button);
	}
});
