/** The mistake in a text that is no YAML, and its remedy, by the code of the parser's error. */
import type { YAMLParseError } from 'yaml';

interface Said {
  readonly wrong: string;
  readonly write: string;
}

const QUOTE = 'put the text in quotes, like "a: b"';
const ALIGN = 'begin all keys of a record, and all dashes of a list, in the same column';

const BY_CODE: Readonly<Record<string, Said>> = {
  ALIAS_PROPS: { wrong: 'an alias has no anchor or tag', write: 'write the value again' },
  BAD_ALIAS: { wrong: 'aliases (*name) are not allowed', write: 'write the value again' },
  BAD_COLLECTION_TYPE: { wrong: 'a tag does not fit its value', write: 'remove the tag' },
  BAD_DIRECTIVE: { wrong: 'directives are not allowed', write: 'remove the line that begins with %' },
  BAD_DQ_ESCAPE: {
    wrong: 'there is no such escape in double quotes',
    write: 'write \\\\ for a backslash, or use single quotes',
  },
  BAD_INDENT: { wrong: 'this line begins in a column where nothing of the file continues', write: ALIGN },
  BAD_PROP_ORDER: { wrong: 'an anchor or a tag stands here', write: 'remove it' },
  BAD_SCALAR_START: { wrong: 'a text cannot begin with this sign', write: QUOTE },
  BLOCK_AS_IMPLICIT_KEY: { wrong: 'a second ": " stands in this line', write: QUOTE },
  BLOCK_IN_FLOW: {
    wrong: 'a block stands between brackets',
    write: 'write lists and records between brackets in one line, or without brackets',
  },
  MULTILINE_IMPLICIT_KEY: {
    wrong: 'a key goes over several lines',
    write: 'close the quote or bracket, and write the key in one line',
  },
  MULTIPLE_ANCHORS: { wrong: 'anchors (&name) are not allowed', write: 'remove the anchor' },
  MULTIPLE_DOCS: { wrong: 'a second document begins here', write: 'write one manifest a file' },
  MULTIPLE_TAGS: { wrong: 'tags (!name) are not allowed', write: 'remove the tag' },
  RESOURCE_EXHAUSTION: { wrong: 'lists and records lie too deep in each other', write: 'write it flatter' },
  TAB_AS_INDENT: { wrong: 'a tab stands at the beginning of a line', write: 'indent with spaces' },
  TAG_RESOLVE_FAILED: { wrong: 'tags (!name) are not allowed', write: 'remove the tag' },
};

/** Says it for a person. The parser's own words are no part of it, because they may quote the file. */
export function sayYaml({ code, message }: YAMLParseError): Said {
  if (code === 'MISSING_CHAR' || (code === 'BAD_INDENT' && /flow/i.test(message))) return missing(message);
  if (code === 'BLOCK_AS_IMPLICIT_KEY' && /sequence/i.test(message)) return unexpected('block-seq');
  if (code === 'UNEXPECTED_TOKEN' || code === 'IMPOSSIBLE') return unexpected(message);
  return BY_CODE[code] ?? { wrong: 'this is not YAML', write: 'look at the quotes, brackets and columns of this line' };
}

function missing(message: string): Said {
  if (/quote/.test(message)) return { wrong: 'a quote is not closed', write: 'close the quote' };
  if (/\]|\}|flow/i.test(message)) return { wrong: 'a bracket is not closed', write: 'close the bracket' };
  if (/comma|,/.test(message)) return { wrong: 'a comma is missing', write: 'write a comma between two entries' };
  if (/space|whitespace/i.test(message)) return { wrong: 'a space is missing', write: 'write a space after : and ,' };
  return { wrong: 'a sign is missing here', write: 'look at the quotes, brackets and colons of this line' };
}

function unexpected(message: string): Said {
  if (/flow-(?:map|seq)-end/.test(message))
    return { wrong: 'a bracket is closed that is not open', write: 'remove the bracket' };
  if (/comma|,/.test(message)) return { wrong: 'a comma stands where a value is missing', write: 'remove the comma' };
  if (/seq-item-ind|map|block-seq|block-map/.test(message))
    return { wrong: 'a list stands beside a record, or in another column', write: ALIGN };
  return { wrong: 'this sign does not belong here', write: 'remove it, or put the text in quotes' };
}
