/* Browsers start no worker on a page that was opened as a file, but the search runs in one. Here
   the worker's script runs in a hidden frame instead, which has the page's own origin. The theme's
   plugin "offline" would load such a script from the network. */
"use strict";
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.onmessage = null;
      const base = new URL(address, location.href);
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      const inside = frame.contentWindow;
      const load = (source) =>
        new Promise((loaded, failed) => {
          const script = inside.document.createElement("script");
          script.src = new URL(source, base).href;
          script.onload = loaded;
          script.onerror = failed;
          inside.document.head.appendChild(script);
        });
      inside.postMessage = (data) => {
        const message = new MessageEvent("message", { data });
        this.dispatchEvent(message);
        this.onmessage?.(message);
      };
      inside.importScripts = (...sources) => Promise.all(sources.map(load));
      this.frame = frame;
      this.ready = load(base);
    }

    postMessage(data) {
      const inside = this.frame.contentWindow;
      this.ready.then(() => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
