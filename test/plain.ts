/** The regime `plain`: what an embedder has who never calls `lockdown()`. Endo's packages still need both imports. */
import 'ses';
import '@endo/eventual-send/shim.js';
