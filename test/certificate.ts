/** A certificate that signs itself, for tests of TLS. The few lines of DER that X.509 (RFC 5280) needs. */
import { generateKeyPairSync, sign } from 'node:crypto';

const der = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts);
  const { length } = body;
  const head = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...head]), body]);
};
const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const time = (year: number): Buffer => der(0x18, Buffer.from(`${year}0101000000Z`));

/** Valid from 2020 to 2090 for `name` and 127.0.0.1. Both in PEM. Signed by its own key, or by another one. */
export function certificate(
  name = 'localhost',
  signer?: { readonly name: string; readonly key: string },
): { readonly cert: string; readonly key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));
  const commonName = (of: string): Buffer =>
    sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(`hob test ${of}`)))));
  const names = sequence(der(0x82, Buffer.from(name)), der(0x87, Buffer.from([127, 0, 0, 1])));
  // As `openssl req -x509` does: it may sign others.
  const isAuthority = sequence(der(0x01, Buffer.from([0xff])));
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    commonName(signer?.name ?? name),
    sequence(time(2020), time(2090)),
    commonName(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(oid('551d11'), der(0x04, names)), sequence(oid('551d13'), der(0x04, isAuthority)))),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, signer?.key ?? privateKey));
  const text = sequence(body, ecdsaWithSha256, signature)
    .toString('base64')
    .replace(/.{64}(?=.)/g, '$&\n');
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}
