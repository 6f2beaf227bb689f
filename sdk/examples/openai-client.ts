// OpenAI's own client through the gateway, and beside it what that client cannot ask for.
import { Tallygate } from '@tallygate/sdk';
import OpenAI from 'openai';

const tallygate = new Tallygate();
const openai = new OpenAI(tallygate.openai());
const answer = await openai.chat.completions.create({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Say hello.' }] });
console.log(answer.choices[0]?.message.content);

const { pricing } = await tallygate.models.get('gpt-4o-mini');
console.log(`${pricing?.prices['input_tokens']} USD a token of input`);
