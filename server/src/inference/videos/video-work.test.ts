import { VideoRequest } from '@tallygate/contract';
import { expect, test } from 'vitest';
import { videoWork } from './video-work.ts';

const received = { files: [], sha256: () => 'x' };
const video = (how: 'remix' | 'edit' | 'extension' | null) =>
  videoWork(
    {
      request: VideoRequest.parse({ prompt: 'a' }),
      source: how && { how, id: 'v', videoId: 'video_1' },
      ...{ seconds: 4, wholeSeconds: 4, size: '720x1280', deployment: undefined, createdAt: new Date(0) },
    },
    { received, caller: { principal: { kind: 'session', accountId: 'a' } } as Parameters<typeof videoWork>[1]['caller'] },
    {} as Parameters<typeof videoWork>[2],
  );

test.each([
  [null, 'lower `seconds`'],
  ['extension', 'lower `seconds`'],
  ['remix', 'choose a shorter video'],
  ['edit', 'choose a shorter video'],
] as const)('a refusal over money says of a video (%s) what makes it cheaper', (how, advice) => {
  expect(video(how).cheaper).toBe(advice);
});
