// Only pkg-config knows where libxml2 keeps its headers, and this module asks it. They are read by CFileFormats.
