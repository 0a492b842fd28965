/** The encoding of a text that is not UTF-8, by the letters that its words would have. */
import { WESTERN } from './encoding.ts';

/** What Windows writes has the letters of these too, and further signs. */
const AS_WINDOWS: Readonly<Record<string, string>> = {
  'ISO-8859-1': WESTERN,
  'ISO-8859-2': 'windows-1250',
  'ISO-8859-6': 'windows-1256',
  'ISO-8859-7': 'windows-1253',
  'ISO-8859-8': 'windows-1255',
  'ISO-8859-9': 'windows-1254',
};
/** Fewer different words show nothing. */
const LEAST_WORDS = 8;
/** Of 100; measured with lists of names in 21 languages. */
const LEAST_CONFIDENCE = 18;
/** How much more likely than `WESTERN`, by far the most frequent one, another encoding has to be. */
const LEAST_RATIO = 1.1;

/** `words`: different ones, each with other bytes than ASCII. The name is in lower case. */
export async function likelyEncoding(words: readonly Buffer[]): Promise<string> {
  if (words.length < LEAST_WORDS) return WESTERN;
  const { analyse } = await import('chardet');
  const found = analyse(Buffer.concat(words.flatMap((word) => [word, Buffer.from(' ')])))
    .filter(({ name }) => !/^(?:ASCII|UTF|ISO-2022|IBM)/.test(name))
    .map(({ name, confidence }) => ({ name: AS_WINDOWS[name] ?? name.toLowerCase(), confidence }));
  const western = found.find(({ name }) => name === WESTERN)?.confidence ?? 0;
  const [best] = found;
  const isSure = best && best.confidence >= LEAST_CONFIDENCE && best.confidence >= western * LEAST_RATIO;
  return isSure ? best.name : WESTERN;
}
