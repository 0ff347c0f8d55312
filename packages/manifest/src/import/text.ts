/** Writes an imported manifest as `hob.yaml`. */
import { Document, isScalar, visit } from 'yaml';
import type { Manifest } from '../file/types.ts';

/** The text of a manifest, as `check` reads it: without anchors, and with each list of words in one line. */
export function manifestText(manifest: Manifest): string {
  const document = new Document(manifest, { aliasDuplicateObjects: false, version: '1.2' });
  visit(document, {
    Seq: (_key, node) => {
      if (node.items.every(isScalar)) node.flow = true;
    },
  });
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}
