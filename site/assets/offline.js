// From file:// a folder is no page: lead links to the file inside it.
if (location.protocol === "file:") {
  document.addEventListener("click", (event) => {
    const link = event.target.closest && event.target.closest("a[href]");
    if (!link || link.protocol !== "file:" || !link.pathname.endsWith("/")) return;
    const url = new URL(link.href);
    url.pathname += "index.html";
    link.href = url.href;
  });
}
