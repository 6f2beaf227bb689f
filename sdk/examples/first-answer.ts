// One question, with what it cost and the receipt that proves it.
import { Tallygate } from '@tallygate/sdk';

const tallygate = new Tallygate();
const { data, costUsd, receiptId } = await tallygate.chat.completions
  .create({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Say hello.' }] })
  .withResponse();

console.log(data.choices[0]?.message.content);
console.log(`${costUsd} USD, receipt ${receiptId}`);
