let key: string | undefined;

/** The key that was just created, for the playground: in the memory of this page alone, gone with it. */
export const freshKey = {
  keep(secret: string): void {
    key = secret;
  },
  get: (): string | undefined => key,
};
