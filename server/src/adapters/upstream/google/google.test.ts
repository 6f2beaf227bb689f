import { startFakeUpstream } from '@tallygate/fake-upstream';
import { describeUpstreamConformance } from '../conformance.ts';
import { google } from './index.ts';

for (const model of ['gemini-2.5-pro', 'gemini-3.5-flash']) {
  describeUpstreamConformance(`the Google adapter with ${model}`, async () => {
    const fake = await startFakeUpstream();
    return { provider: google({ name: 'fake', baseUrl: new URL('/v1beta', fake.url).href }), model, close: fake.close };
  });
}
