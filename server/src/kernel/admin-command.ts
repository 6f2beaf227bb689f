import { existsSync } from 'node:fs';

/** Only the repository has the scripts; the sources and both kinds of build lie equally deep. */
const IS_REPOSITORY = existsSync(new URL('../../../scripts/admin.mjs', import.meta.url));

/** How the operator's commands begin: in the repository, or where the package is installed. */
export const ADMIN = IS_REPOSITORY ? 'npm run admin --' : 'tallygate-server admin';
