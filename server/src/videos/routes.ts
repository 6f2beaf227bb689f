import type { contract } from '@tallygate/contract';
import { ownerOf } from '../files/index.ts';
import type { Handlers } from '../identity/index.ts';
import { invalidInput } from '../kernel/invalid-input.ts';
import { Problem } from '../kernel/problem.ts';
import { videoToWire } from './stored-video.ts';
import type { Videos } from './videos.ts';

export const videoRoutes = (videos: Videos): Handlers<typeof contract.videos> => ({
  list: async ({ principal, query }) => {
    const page = await videos.list(ownerOf(principal), query);
    const data = page.videos.map(videoToWire);
    const ends = { first_id: data.at(0)?.id ?? null, last_id: data.at(-1)?.id ?? null };
    return { status: 200, body: { object: 'list', data, ...ends, has_more: page.hasMore } };
  },
  get: async ({ principal, params }) => ({ status: 200, body: videoToWire(await videos.get(ownerOf(principal), params.video_id)) }),
  delete: async ({ principal, params }) => {
    await videos.delete(ownerOf(principal), params.video_id);
    return { status: 200, body: { id: params.video_id, object: 'video.deleted', deleted: true } };
  },
  edit: async () => {
    throw notOffered('edits are not offered, since nothing bounds their length and price: use /v1/videos/{video_id}/remix');
  },
  extend: async () => {
    throw notOffered('extensions are not offered: no provider of the catalogue’s models has them');
  },
  createCharacter: async () => {
    throw notOffered('characters are not offered: no provider of the catalogue’s models has them');
  },
  getCharacter: async () => {
    throw new Problem('not_found', 'There is no such character: characters are not offered.', { param: 'character_id' });
  },
});

const notOffered = (what: string): Problem => invalidInput([{ loc: ['path'], msg: `Video ${what}`, type: 'unsupported' }]);
