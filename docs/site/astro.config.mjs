import { existsSync, readFileSync } from 'node:fs';
import starlight from '@astrojs/starlight';
import { defineConfig, passthroughImageService } from 'astro/config';

const sidebar = new URL('./src/content/sidebar.json', import.meta.url);

/** Replaces Starlight's sitemap: a sitemap has whole addresses, and each gateway serves these pages under another one. */
const noSitemap = { name: '@astrojs/sitemap', hooks: {} };

// Served by the gateway under /docs; every asset comes from the same origin.
export default defineConfig({
  base: '/docs',
  trailingSlash: 'ignore',
  outDir: './dist',
  build: { format: 'directory' },
  image: { service: passthroughImageService() },
  // The gateway's content policy takes fonts from its own origin, not from within a style sheet.
  vite: { build: { assetsInlineLimit: (file) => (file.endsWith('.woff2') ? false : undefined) } },
  integrations: [
    noSitemap,
    starlight({
      title: 'Tallygate',
      description: 'An OpenAI-compatible AI inference gateway with receipts that you can verify.',
      logo: { src: './src/components/mark.svg' },
      favicon: '/favicon.svg',
      customCss: [
        '@fontsource-variable/inter/index.css',
        '@fontsource-variable/jetbrains-mono/index.css',
        './src/styles/theme.css',
        './src/styles/frame.css',
        './src/styles/code.css',
        './src/styles/tables.css',
        './src/styles/home.css',
        './src/styles/operation.css',
        './src/styles/catalogue.css',
        './src/styles/verifier.css',
      ],
      components: {
        Head: './src/components/Head.astro',
        Header: './src/components/Header.astro',
        Hero: './src/components/Hero.astro',
        Sidebar: './src/components/Sidebar.astro',
        PageTitle: './src/components/PageTitle.astro',
      },
      routeMiddleware: './src/navigation/route-data.ts',
      // Written by gather.ts before every build.
      sidebar: existsSync(sidebar) ? JSON.parse(readFileSync(sidebar, 'utf8')) : [],
      // What gather/questions.ts puts into a page's head counts as its title does.
      pagefind: { ranking: { metaWeights: { title: 5, asked: 8, called: 2 } } },
      lastUpdated: false,
      credits: false,
      expressiveCode: {
        themes: ['github-dark-default', 'github-light-default'],
        // A window's title bar over every command would be a third of it; an answer's long sentences are read, not scrolled to.
        defaultProps: {
          overridesByLang: { 'sh,bash,shell,console,ts,js,python': { frame: 'none' }, json: { wrap: true, frame: 'none' } },
        },
        styleOverrides: {
          borderRadius: '0.6rem',
          borderColor: 'var(--tg-line)',
          codeBackground: 'var(--tg-code)',
          codeFontSize: '0.8125rem',
          codeLineHeight: '1.65',
          codePaddingBlock: '0.9rem',
          codePaddingInline: '1rem',
          frames: {
            shadowColor: 'transparent',
            editorBackground: 'var(--tg-code)',
            editorTabBarBackground: 'var(--tg-code)',
            editorActiveTabBackground: 'var(--tg-code)',
            editorActiveTabIndicatorTopColor: 'transparent',
            editorActiveTabIndicatorBottomColor: 'transparent',
            editorTabBarBorderBottomColor: 'var(--tg-line)',
            editorActiveTabBorderColor: 'transparent',
          },
        },
      },
    }),
  ],
});
