/** The compiler of Zig that `scripts/zig.txt` pins; or why there is none. Installs nothing. */
export declare function zigProgram(): { readonly zig?: string; readonly missing?: string };
/** The same, after bringing it if it is not there. */
export declare function setUpZig(): Promise<{ readonly zig?: string; readonly missing?: string }>;
