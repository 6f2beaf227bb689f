/** Where Google Vertex is asked, and with which key. */
export interface VertexPlace {
  readonly project: string | undefined;
  readonly location: string;
  /** Of a service account. */
  readonly keyFile: string | undefined;
}

interface Given {
  readonly project?: string | undefined;
  readonly location?: string | undefined;
  readonly key_file?: string | undefined;
}

/** What is not named is in the variables of Google's own libraries. */
export const placeOf = (
  { project, location, key_file: keyFile }: Given,
  env: Readonly<Record<string, string | undefined>>,
): VertexPlace => ({
  project: project ?? env['GOOGLE_CLOUD_PROJECT'],
  location: location ?? env['GOOGLE_CLOUD_LOCATION'] ?? 'global',
  keyFile,
});

export const isLocation = (text: string): boolean => /^(?:global|us|eu|[a-z]+-[a-z]+\d+)$/.test(text);
export const LOCATION = 'Expected a region of Google Cloud such as `europe-west4`, or `global`, `us` or `eu`';
export const PROJECT = 'Expected a project of Google Cloud';

/** As Google's own libraries choose it. */
export function vertexAddress(location: string): string {
  if (location === 'global') return 'https://aiplatform.googleapis.com';
  const isMultiRegion = location === 'us' || location === 'eu';
  return isMultiRegion ? `https://aiplatform.${location}.rep.googleapis.com` : `https://${location}-aiplatform.googleapis.com`;
}
