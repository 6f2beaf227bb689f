import { LIST_SCHEMA, type ScimQuery } from './scim-schemas.ts';

const MOST = 200;

export interface Listed<Resource> {
  readonly schemas: readonly string[];
  readonly totalResults: number;
  readonly startIndex: number;
  readonly itemsPerPage: number;
  readonly Resources: readonly Resource[];
}

/** Which rows a page of a list has (RFC 7644, 3.4.2.4): it counts from one. */
export const windowOf = ({ startIndex, count }: ScimQuery): { readonly offset: number; readonly limit: number } => ({
  offset: Math.max(1, startIndex) - 1,
  limit: Math.min(MOST, Math.max(0, count)),
});

export const listed = <Resource>(Resources: readonly Resource[], totalResults: number, query: ScimQuery): Listed<Resource> => ({
  schemas: [LIST_SCHEMA],
  ...{ totalResults, startIndex: windowOf(query).offset + 1, itemsPerPage: Resources.length, Resources },
});
