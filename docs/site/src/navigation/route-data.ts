import { defineRouteMiddleware, type StarlightRouteData } from '@astrojs/starlight/route-data';
import { GUIDES, sectionOf } from './sections.ts';

type Entry = StarlightRouteData['sidebar'][number];
type Link = StarlightRouteData['pagination']['prev'];

/**
 * The sidebar of a page has the pages of its section, not of the whole site; a page without a section has the guides, which only a phone's menu
 * shows. One reads on from guide to guide; operations and errors are looked up, so there is no next one.
 */
export const onRequest = defineRouteMiddleware(({ locals: { starlightRoute: route } }) => {
  const section = sectionOf(route.id);
  const { prev, next } = route.pagination;
  const isNeighbour = (link: Link) => section === GUIDES && link !== undefined && sectionOf(link.href.replace('/docs/', '')) === GUIDES;
  route.pagination = { prev: isNeighbour(prev) ? prev : undefined, next: isNeighbour(next) ? next : undefined };
  route.sidebar = partOf(route.sidebar, section?.label) ?? partOf(route.sidebar, GUIDES.label) ?? [];
  route.hasSidebar = true;
});

function partOf(sidebar: readonly Entry[], label: string | undefined): Entry[] | undefined {
  const part = sidebar.find((entry) => entry.label === label);
  return part?.type === 'group' ? part.entries : undefined;
}
