/** Why the SDKs are not there; undefined if they are. Installs nothing. */
export declare function sdksMissing(): string | undefined;
/** Answers why they are missing; undefined if they are there now. */
export declare function setUpSdks(): Promise<string | undefined>;
