"use strict";
/* In the frame of a page that has the queries of an audit, as that of truemoment open, a link leads to them in place of
   a command. The part of the address after # is where it leads; only the page around the frame can go there. */
(() => {
  const command = document.getElementById("browse");
  if (!command || parent === window || !location.hash.startsWith("#/")) return;
  const link = document.createElement("a");
  link.id = "browse";
  link.href = location.hash.slice(1);
  link.textContent = "Confident and wrong";
  link.addEventListener("click", (event) => {
    event.preventDefault();
    parent.postMessage("browse", "*");
  });
  command.previousElementSibling.textContent = "Browse these queries";
  command.replaceWith(link);
})();
