import { existsSync, readFileSync } from 'node:fs';
import starlight from '@astrojs/starlight';
import { defineConfig, passthroughImageService } from 'astro/config';

const sidebar = new URL('./src/content/sidebar.json', import.meta.url);

/**
 * What scrolls sideways is within reach of the keyboard, also once the window has become narrower; expressive-code's own script takes the mark
 * off blocks that fit, and makes no landmark of one that has it already. The search button is called what stands on it. The sidebar
 * shows where one is, however far down that is.
 */
const REACHABLE = `
for (const one of document.querySelectorAll('.expressive-code pre')) one.tabIndex = 0;
const reach = () => {
  for (const one of document.querySelectorAll('.sl-markdown-content table, .sl-markdown-content pre')) if (one.scrollWidth > one.clientWidth) one.tabIndex = 0;
};
reach();
new ResizeObserver(reach).observe(document.documentElement);
for (const one of document.querySelectorAll('button[data-open-modal]')) one.ariaLabel = one.textContent.replaceAll(/\\s+/g, ' ').trim();
const here = document.querySelector('.sidebar-pane a[aria-current="page"]');
const pane = here?.closest('.sidebar-pane');
if (pane) {
  const [link, frame] = [here.getBoundingClientRect(), pane.getBoundingClientRect()];
  if (link.top < frame.top || link.bottom > frame.bottom) pane.scrollTop += link.top - frame.top - frame.height / 3;
}
`;

// Served by the gateway under /docs; every asset comes from the same origin.
export default defineConfig({
  base: '/docs',
  trailingSlash: 'ignore',
  outDir: './dist',
  build: { format: 'directory' },
  image: { service: passthroughImageService() },
  integrations: [
    starlight({
      title: 'Tallygate',
      description: 'An OpenAI-compatible AI inference gateway that can be believed.',
      logo: { src: './src/components/mark.svg' },
      favicon: '/favicon.svg',
      head: [{ tag: 'script', attrs: { type: 'module' }, content: REACHABLE }],
      customCss: ['./src/styles/theme.css', './src/styles/operation.css'],
      // Written by gather.ts before every build.
      sidebar: existsSync(sidebar) ? JSON.parse(readFileSync(sidebar, 'utf8')) : [],
      pagination: true,
      lastUpdated: false,
      credits: false,
      expressiveCode: {
        themes: ['github-dark-default', 'github-light-default'],
        // A window's title bar over every command would be a third of it; an answer's long sentences are read, not scrolled to.
        defaultProps: {
          overridesByLang: { 'sh,bash,shell,console': { frame: 'none' }, json: { wrap: true, frame: 'none' } },
        },
        styleOverrides: { borderRadius: '0.5rem', frames: { shadowColor: 'transparent', editorActiveTabIndicatorTopColor: 'transparent' } },
      },
    }),
  ],
});
