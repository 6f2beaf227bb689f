import manifest from '../package.json' with { type: 'json' };

/** The version that `package.json` states. */
export const VERSION: string = manifest.version;
