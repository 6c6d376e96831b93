"""Federation by file: one signed job out, one signed upload back from every site, one model. No server, no network."""
