/** The address of a gateway that was started with no settings, as the texts write it. */
const WRITTEN = 'http://127.0.0.1:8787';
/** Pages on which the reader starts a gateway of their own: its address is this one only where the page itself comes from their machine. */
const OWN_GATEWAY = /^\/docs\/(?:start|guides\/(?:running|payments))\//;
const isLocal = ['127.0.0.1', 'localhost', '[::1]'].includes(location.hostname);

/** The gateway that serves this page is the one that samples shall call, also when they are copied. */
function nameThisGateway(): void {
  for (const code of document.querySelectorAll('pre')) {
    const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      if (text.nodeValue?.includes(WRITTEN)) text.nodeValue = text.nodeValue.replaceAll(WRITTEN, location.origin);
    }
  }
  for (const button of document.querySelectorAll<HTMLElement>('[data-code]')) {
    button.dataset['code'] = button.dataset['code']?.replaceAll(WRITTEN, location.origin);
  }
}
if (location.origin !== WRITTEN && (isLocal || !OWN_GATEWAY.test(location.pathname))) nameThisGateway();
