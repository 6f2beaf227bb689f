/**
 * What scrolls sideways is within reach of the keyboard, also once the window has become narrower; expressive-code's own script takes the mark
 * off blocks that fit, and makes no landmark of one that has it already.
 */
for (const block of document.querySelectorAll<HTMLElement>('.expressive-code pre')) block.tabIndex = 0;

function reach(): void {
  for (const box of document.querySelectorAll<HTMLElement>('.sl-markdown-content table, .sl-markdown-content pre'))
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
}
reach();
new ResizeObserver(reach).observe(document.documentElement);

/** The accessible name of the search button is its visible text. */
for (const button of document.querySelectorAll('button[data-open-modal]'))
  button.ariaLabel = button.textContent?.replaceAll(/\s+/g, ' ').trim() ?? null;

/** The sidebar shows where one is, however far down that is. */
const here = document.querySelector('.sidebar-pane a[aria-current="page"]');
const pane = here?.closest('.sidebar-pane');
if (here && pane) {
  const [link, frame] = [here.getBoundingClientRect(), pane.getBoundingClientRect()];
  if (link.top < frame.top || link.bottom > frame.bottom) pane.scrollTop += link.top - frame.top - frame.height / 3;
}

/**
 * The samples beside an operation stay in sight while it is read. Where they are higher than the window they scroll with it until their end is
 * seen, instead of in a separate box.
 */
const samples = document.querySelector<HTMLElement>('.operation .samples');
function hold(): void {
  if (!samples) return;
  const below = innerHeight - samples.offsetHeight - 24;
  samples.style.top = below < 80 ? `${below}px` : '5rem';
}
if (samples) new ResizeObserver(hold).observe(samples);
addEventListener('resize', hold);
