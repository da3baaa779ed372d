"""Where bytes come from and go to: captures and day files now; each fills frame memory and PACKET records."""
