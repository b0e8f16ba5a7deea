// What is used of the package punycode (https://www.npmjs.com/package/punycode); it has no types for its file.

declare module "punycode/punycode.js" {
  const punycode: {
    /** @param label of Unicode. @returns its Punycode, without a prefix */
    encode(label: string): string;
  };
  export default punycode;
}
