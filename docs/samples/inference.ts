import type { Samples } from './sample.ts';

const CHAT = `{
  model: 'gpt-4o-mini',
  messages: [{ role: 'user', content: 'Say hello.' }],
}`;

export const INFERENCE: Samples = {
  createChatCompletion: {
    sdk: `const { data, costUsd, receiptId } = await tallygate.chat.completions.create(${CHAT}).withResponse();`,
    openai: `const completion = await client.chat.completions.create(${CHAT});`,
    cli: 'tallygate chat "Say hello."',
  },
  listChatCompletions: {
    sdk: 'for await (const completion of tallygate.chat.completions.list()) console.log(completion.id);',
    openai: 'for await (const completion of client.chat.completions.list()) console.log(completion.id);',
    cli: 'tallygate chats list',
  },
  createCompletion: {
    sdk: `const completion = await tallygate.completions.create({ model: 'gpt-3.5-turbo-instruct', prompt: 'Once upon a time' });`,
    openai: `const completion = await client.completions.create({ model: 'gpt-3.5-turbo-instruct', prompt: 'Once upon a time' });`,
  },
  createResponse: {
    sdk: `const response = await tallygate.responses.create({ model: 'gpt-4o-mini', input: 'Tell me a story.' });`,
    openai: `const response = await client.responses.create({ model: 'gpt-4o-mini', input: 'Tell me a story.' });`,
    cli: 'tallygate responses create "Tell me a story."',
  },
  getResponse: {
    sdk: `const response = await tallygate.responses.get('resp_123');`,
    openai: `const response = await client.responses.retrieve('resp_123');`,
    cli: 'tallygate responses get resp_123',
  },
  deleteResponse: {
    openai: `await client.responses.delete('resp_123');`,
    cli: 'tallygate responses delete resp_123',
  },
  cancelResponse: {
    openai: `await client.responses.cancel('resp_123');`,
    cli: 'tallygate responses cancel resp_123',
  },
  listResponseInputItems: {
    sdk: `for await (const item of tallygate.responses.inputItems('resp_123')) console.log(item.id);`,
    openai: `for await (const item of client.responses.inputItems.list('resp_123')) console.log(item.id);`,
    cli: 'tallygate responses items resp_123',
  },
  countResponseInputTokens: {
    sdk: `const { input_tokens } = await tallygate.responses.countTokens({ model: 'gpt-4o-mini', input: 'Tell me a story.' });`,
    openai: `const { input_tokens } = await client.responses.inputTokens.count({ model: 'gpt-4o-mini', input: 'Tell me a story.' });`,
  },
  createConversation: {
    sdk: `const conversation = await tallygate.conversations.create({ metadata: { topic: 'demo' } });`,
    openai: `const conversation = await client.conversations.create({ metadata: { topic: 'demo' } });`,
    cli: 'tallygate conversations create',
  },
  createEmbedding: {
    sdk: `const { data } = await tallygate.embeddings.create({ model: 'text-embedding-3-small', input: 'A text.' });`,
    openai: `const { data } = await client.embeddings.create({ model: 'text-embedding-3-small', input: 'A text.', encoding_format: 'float' });`,
    cli: 'tallygate embed "A text."',
  },
  rerank: {
    sdk: `const { results } = await tallygate.rerank.create({ model: 'rerank-v4.0-fast', query: 'What is a ledger?', documents: ['A text.', 'Another one.'] });`,
  },
  createModeration: {
    sdk: `const { results } = await tallygate.moderations.create({ input: 'A text.' });`,
    openai: `const { results } = await client.moderations.create({ input: 'A text.' });`,
    cli: 'tallygate moderate "A text."',
  },
  createImage: {
    sdk: `const { data } = await tallygate.images.generate({ model: 'gpt-image-1', prompt: 'A ledger of light' });`,
    openai: `const { data } = await client.images.generate({ model: 'gpt-image-1', prompt: 'A ledger of light' });`,
    cli: 'tallygate image "A ledger of light" -o ledger.png',
  },
  createSpeech: {
    sdk: `const audio = await tallygate.audio.speech.create({ model: 'gpt-4o-mini-tts', voice: 'alloy', input: 'The ledger sums to zero.' });`,
    openai: `const audio = await client.audio.speech.create({ model: 'gpt-4o-mini-tts', voice: 'alloy', input: 'The ledger sums to zero.' });`,
    cli: 'tallygate speak "The ledger sums to zero." -o ledger.mp3',
  },
  createVideo: {
    sdk: `const video = await tallygate.videos.create({ model: 'sora-2', prompt: 'A river of numbers', seconds: '4' });`,
    openai: `const video = await client.videos.create({ model: 'sora-2', prompt: 'A river of numbers', seconds: '4' });`,
  },
  getVideo: {
    openai: `const video = await client.videos.retrieve('video_123');`,
  },
  listVideos: {
    openai: 'for await (const video of client.videos.list()) console.log(video.id, video.status);',
  },
  deleteVideo: { openai: `await client.videos.delete('video_123');` },
  listFiles: {
    openai: 'for await (const file of client.files.list()) console.log(file.id);',
    cli: 'tallygate files list',
  },
  createFile: {
    sdk: `const file = await tallygate.files.create({ file: new Blob(['{}']), filename: 'lines.jsonl', purpose: 'batch' });`,
    openai: `const file = await client.files.create({ file: new File(['{}'], 'lines.jsonl'), purpose: 'batch' });`,
    cli: 'tallygate files upload lines.jsonl --purpose batch',
  },
  getFile: {
    openai: `const file = await client.files.retrieve('file-123');`,
    cli: 'tallygate files get file-123',
  },
  deleteFile: {
    openai: `await client.files.delete('file-123');`,
    cli: 'tallygate files delete file-123',
  },
  downloadFile: {
    openai: `const content = await client.files.content('file-123');`,
    cli: 'tallygate files content file-123 -o lines.jsonl',
  },
  createBatch: {
    sdk: `const batch = await tallygate.batches.create({ input_file_id: 'file-123', endpoint: '/v1/chat/completions', completion_window: '24h' });`,
    openai: `const batch = await client.batches.create({ input_file_id: 'file-123', endpoint: '/v1/chat/completions', completion_window: '24h' });`,
    cli: 'tallygate batches create lines.jsonl',
  },
  getBatch: {
    openai: `const batch = await client.batches.retrieve('batch_123');`,
    cli: 'tallygate batches get batch_123',
  },
  listBatches: {
    openai: 'for await (const batch of client.batches.list()) console.log(batch.id, batch.status);',
    cli: 'tallygate batches list',
  },
  cancelBatch: {
    openai: `await client.batches.cancel('batch_123');`,
    cli: 'tallygate batches cancel batch_123',
  },
  listModels: {
    sdk: 'const { data } = await tallygate.models.list();',
    openai: 'for await (const model of client.models.list()) console.log(model.id);',
    cli: 'tallygate models',
  },
  getModel: {
    openai: `const model = await client.models.retrieve('gpt-4o-mini');`,
  },
};
