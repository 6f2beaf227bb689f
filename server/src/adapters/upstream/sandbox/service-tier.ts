/** The tier that is asked for is the one that it is served at. */
export const tierOf = ({ service_tier: asked = 'default' }: { readonly service_tier?: string | null | undefined }): string =>
  asked === null || asked === 'auto' ? 'default' : asked;
