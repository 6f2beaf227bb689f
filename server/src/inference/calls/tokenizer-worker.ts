import { answerQuestions } from '../../kernel/answer-questions.ts';
import { countTokensGuarded, loadVocabulary } from './token-count.ts';
import type { CountedText } from './tokenizer.ts';

answerQuestions(
  ({ encoding, text }: CountedText) => countTokensGuarded(encoding, text),
  ({ encoding }) => loadVocabulary(encoding),
);
