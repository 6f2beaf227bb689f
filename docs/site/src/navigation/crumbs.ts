import type { StarlightRouteData } from '@astrojs/starlight/route-data';
import { kebab } from '../reference/document.ts';
import { sectionOf } from './sections.ts';

type Entry = StarlightRouteData['sidebar'][number];

export interface Crumb {
  readonly label: string;
  readonly href: string;
}

/** The section and the group that a page belongs to. The overview of a section has a heading for each group. */
export function crumbsOf(id: string, sidebar: readonly Entry[]): Crumb[] {
  const section = sectionOf(id);
  if (!section || section.href === `/docs/${id}/`) return [];
  const group = sidebar.find((entry) => entry.type === 'group' && entry.entries.some((child) => child.type === 'link' && child.isCurrent));
  return [
    { label: section.label, href: section.href },
    ...(group === undefined ? [] : [{ label: group.label, href: `${section.href}#${kebab(group.label)}` }]),
  ];
}
