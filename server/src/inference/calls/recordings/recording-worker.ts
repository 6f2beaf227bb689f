import { answerQuestions } from '../../../kernel/answer-questions.ts';
import { recordingLength } from './recording-length.ts';

answerQuestions((bytes: Uint8Array) => recordingLength(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)));
