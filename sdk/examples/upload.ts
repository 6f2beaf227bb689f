// Sends a file, reads it back and deletes it; then lists what is there, page after page.
import { Tallygate } from '@tallygate/sdk';

const tallygate = new Tallygate();
const questions = new File(['{"custom_id":"1"}\n'], 'questions.jsonl');
const { id, bytes } = await tallygate.files.create({ file: questions, purpose: 'batch' });
const content = await (await tallygate.files.content(id)).text();
console.log(`${bytes} bytes sent, ${content.length} read back`);
await tallygate.files.delete(id);

let left = 0;
for await (const _ of tallygate.files.list({ limit: 100 })) left += 1;
console.log(`${left} files left`);
