import { startFakeUpstream } from '@tallygate/fake-upstream';
import { azureOpenAi } from './azure-openai.ts';
import { describeUpstreamConformance } from './conformance.ts';

describeUpstreamConformance('the Azure adapter with deployments', async () => {
  const fake = await startFakeUpstream();
  const options = { name: 'fake', baseUrl: new URL('/', fake.url).href, apiKey: 'azure-key-0123456789', apiVersion: '2024-10-21' };
  return { provider: azureOpenAi(options), model: 'my-deployment', close: fake.close };
});

describeUpstreamConformance('the Azure adapter without versions', async () => {
  const fake = await startFakeUpstream();
  const options = { name: 'fake', baseUrl: new URL('/', fake.url).href, apiKey: 'azure-key-0123456789' };
  return { provider: azureOpenAi(options), model: 'my-deployment', close: fake.close };
});
