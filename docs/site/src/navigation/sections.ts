/** A part of the site with its own entry in the header. */
export interface Section {
  readonly label: string;
  readonly href: string;
  /** First folders of its pages. */
  readonly folders: readonly string[];
}

export const GUIDES: Section = { label: 'Guides', href: '/docs/guides/', folders: ['guides', 'start', 'concepts', 'clients'] };
export const REFERENCE: Section = { label: 'API reference', href: '/docs/reference/', folders: ['reference'] };
export const ERRORS: Section = { label: 'Errors', href: '/docs/errors/', folders: ['errors'] };

/** In the order of the header. */
export const SECTIONS: readonly Section[] = [
  GUIDES,
  REFERENCE,
  { label: 'Models', href: '/docs/models/', folders: ['models'] },
  ERRORS,
  { label: 'Verify', href: '/docs/verify/', folders: ['verify'] },
  { label: 'Changelog', href: '/docs/changelog/', folders: ['changelog'] },
];

/** @param id of a page: its address inside the site, without slashes around it; that of home is empty */
export const sectionOf = (id: string): Section | undefined => SECTIONS.find(({ folders }) => folders.includes(id.split('/')[0] ?? ''));
