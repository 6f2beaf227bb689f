import { startFakeUpstream } from '@tallygate/fake-upstream';
import { describeUpstreamConformance } from '../conformance.ts';
import { anthropic } from './anthropic.ts';

describeUpstreamConformance('the Anthropic adapter', async () => {
  const fake = await startFakeUpstream();
  return { provider: anthropic({ name: 'fake', baseUrl: fake.url }), model: 'claude-opus-4-8', hasOneChoiceOnly: true, close: fake.close };
});
