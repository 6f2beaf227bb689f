import type { Pool } from 'pg';
import type { BlobStore } from '../../adapters/blobs/port.ts';
import { Archive } from '../archive.ts';

const NOTHING = () => {
  throw new Error('Nothing is archived here');
};
const NO_BLOBS: BlobStore = { put: NOTHING, get: NOTHING, delete: NOTHING, list: NOTHING, sweepUnfinished: NOTHING, check: NOTHING };

/** The archive of a database whose months are all there. */
export const emptyArchive = (pool: Pool): Archive => new Archive(pool, NO_BLOBS);
